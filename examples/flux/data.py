"""Writes the pictures of discs and their descriptions for debug.titan.

    data.py FOLDER [SAMPLES [SEED]]

The folder receives three arrays: `latents`, pixels from -1 to 1 as [channels, height, width]; `text`, a vector for each of
four words (colour, row, column, size); and `vector`, the same numbers in eight. Real data have the latents of an
autoencoder, the hidden states of T5 and the pooled state of CLIP in these arrays.
"""

import sys
from pathlib import Path

import numpy

SIZE, WORDS, WIDTH, VECTOR = 16, 4, 16, 8


def picture(colour, row, column, radius):
    y, x = numpy.mgrid[:SIZE, :SIZE]
    inside = numpy.clip(radius + 0.5 - numpy.hypot(y - row, x - column), 0, 1)
    return 2 * (inside[None] * colour[:, None, None]) - 1


def main() -> None:
    folder = Path(sys.argv[1])
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 2048
    chance = numpy.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    words = numpy.random.default_rng(1).normal(size=(WORDS, 3, WIDTH)) / 2  # the same in every set
    colours = chance.uniform(0.2, 1, (samples, 3))
    places = chance.uniform(4, SIZE - 5, (samples, 2))
    radii = chance.uniform(2, 4, samples)
    latents = numpy.stack([picture(c, *p, r) for c, p, r in zip(colours, places, radii)])
    scaled = numpy.stack([(places[:, 0] - 7.5) / 4, (places[:, 1] - 7.5) / 4, radii - 3], 1)
    told = numpy.zeros((samples, WORDS, 3))
    told[:, 0] = 2 * colours - 1
    told[:, 1, 0], told[:, 2, 0], told[:, 3, 0] = scaled.T
    vector = numpy.concatenate([2 * colours - 1, scaled, numpy.ones((samples, 2))], 1)
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in (("latents", latents), ("text", numpy.einsum("swk,wkd->swd", told, words)), ("vector", vector)):
        numpy.save(folder / f"{name}.npy", array.astype(numpy.float32))


if __name__ == "__main__":
    main()
