"""What a run reads is what its checkpoints were trained on: other data are named, another tokenizer is
refused, and the run keeps its own."""

import json
import shutil
from pathlib import Path

from program import TEXT, ProgramCase, main

OTHER = TEXT.replace(b"word", b"bird")


class InputsTest(ProgramCase):
    def setUp(self):
        super().setUp()
        self.tokenizers = [self.write_tokenizer(name, size) for name, size in (("one", 3), ("two", 4))]

    def write_tokenizer(self, name, size):
        folder = self.folder / name
        folder.mkdir()
        (folder / "tokenizer.json").write_text(json.dumps({"vocabulary": list(range(size))}))
        (folder / "tokenizer_config.json").write_text(json.dumps({"name": "any"}))
        return folder

    def continue_run(self, steps, *arguments, **options):
        return self.train("run", "--steps", steps, "--set", "checkpoint.every=5", *arguments, **options)[1]

    def test_other_data_are_named(self):
        self.continue_run(5)
        first, self.text = self.text, self.folder / "other"
        self.text.write_bytes(OTHER)
        for ranks, steps in ((1, 10), (2, 15)):
            text = self.continue_run(steps, ranks=ranks)
            words = "warning: the checkpoint was trained on other inputs: data: data.path: "
            # The second time, the checkpoint is already of the other data.
            self.assertEqual(text.count(words), 1 if steps == 10 else 0, text)
            if steps == 10:
                self.assertIn(f"'{first}' ({len(TEXT)} bytes, CRC-32C", text)
                self.assertIn(f"'{self.text}' ({len(OTHER)} bytes, CRC-32C", text)

    def test_an_edited_file_is_named(self):
        self.continue_run(5)
        self.text.write_bytes(OTHER)
        self.assertIn("data.path: ", self.continue_run(10))

    def test_a_copy_elsewhere_is_the_same(self):
        self.continue_run(5)
        self.text = Path(shutil.copy(self.text, self.folder / "copy"))
        text = self.continue_run(10)
        self.assertNotIn("other inputs", text)

    def test_another_tokenizer_is_refused(self):
        one, two = self.tokenizers
        own = self.folder / "run" / "tokenizer.json"
        self.continue_run(5, "--tokenizer", one)
        for ranks in (1, 2):
            text = self.continue_run(10, "--tokenizer", two, ranks=ranks, status=1)
            self.assertRegex(text, "error: (rank 0: )?the checkpoint was trained with another tokenizer: tokenizer.json: ")
            self.assertIn(f"'{one / 'tokenizer.json'}'", text)
            self.assertIn(f"'{two / 'tokenizer.json'}'", text)
            self.assertEqual(own.read_bytes(), (one / "tokenizer.json").read_bytes())
        for same in ([], ["--tokenizer", one], ["--tokenizer", self.folder / "run"]):
            self.assertNotIn("other inputs", self.continue_run(10, *same))
        self.continue_run(5, "--tokenizer", two, "--resume", "none")
        self.assertEqual(own.read_bytes(), (two / "tokenizer.json").read_bytes())

    def test_another_configuration_is_named(self):
        one = self.tokenizers[0]
        self.continue_run(5, "--tokenizer", one)
        own = self.folder / "run" / "tokenizer_config.json"
        before = own.read_bytes()
        (one / "tokenizer_config.json").write_text("{}")
        text = self.continue_run(10, "--tokenizer", one)
        self.assertIn("warning: the checkpoint was trained on other inputs: tokenizer: tokenizer_config.json", text)
        self.assertEqual(own.read_bytes(), before)

    def forget(self):
        """Makes the checkpoints ones of a version that recorded no inputs."""
        for path in (self.folder / "run/checkpoints").glob("step-*/checkpoint.json"):
            manifest = json.loads(path.read_text())
            del manifest["data"]["inputs"], manifest["tokenizer"], manifest["crc32c"]
            manifest["crc32c"] = crc32c(json.dumps(manifest, separators=(",", ":")).encode())
            path.write_text(json.dumps(manifest))

    def test_earlier_checkpoints_resume(self):
        one, two = self.tokenizers
        self.continue_run(5, "--tokenizer", one)
        self.forget()
        self.text.write_bytes(OTHER)
        self.assertIn("with another tokenizer", self.continue_run(10, "--tokenizer", two, status=1))
        (self.folder / "run/tokenizer.json").write_bytes(b"")  # as a power failure left it
        text = self.continue_run(10, "--tokenizer", one)
        self.assertIn("resuming after step 5", text)
        self.assertNotIn("other inputs", text)
        self.assertEqual((self.folder / "run/tokenizer.json").read_bytes(), (one / "tokenizer.json").read_bytes())

    def test_a_link_to_a_secret_is_not_copied(self):
        one = self.tokenizers[0]
        secret = self.folder / "secret"
        secret.write_text("a secret\n")
        (one / "tokenizer.model").symlink_to(secret)
        text = self.continue_run(5, "--tokenizer", one, status=1)
        self.assertIn("tokenizer.model' is no file of a tokenizer", text)
        self.assertFalse((self.folder / "run").exists())

    def test_planted_links_are_replaced(self):
        one = self.tokenizers[0]
        precious = self.folder / "precious"
        precious.write_text("precious")
        (self.folder / "run").mkdir()
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (self.folder / "run" / name).symlink_to(precious)
        self.continue_run(5, "--tokenizer", one)
        self.assertEqual(precious.read_text(), "precious")
        self.assertEqual((self.folder / "run/tokenizer.json").read_bytes(), (one / "tokenizer.json").read_bytes())


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


if __name__ == "__main__":
    main()
