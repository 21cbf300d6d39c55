# The arguments of the scripts of this folder: MODEL DATA OUT [OPTION...]. The options are those of `titanc build`.
# Without arguments, a tiny model and its data are made in out/finetuning. The shell's variables LENGTH, STEPS and
# RATE change the samples' length, the number of steps and the learning rate.
if [ $# -lt 3 ]; then
  "${PYTHON:-python3}" "$here/tiny.py" out/finetuning
  set -- out/finetuning/model "out/finetuning/$default" "out/finetuning/$(basename "$0" .sh)"
fi
model=$1 data=$2 out=$3
shift 3
length=${LENGTH:-64} steps=${STEPS:-20} rate=${RATE:-1e-3}
mkdir -p "$out"
