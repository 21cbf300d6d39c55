"""tokenizer_config.json and the chat template, as Hugging Face's directories have them."""

from dataclasses import dataclass
from pathlib import Path

from titan_prepare.errors import UserError
from titan_prepare.files import read_json, read_text

SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@dataclass(frozen=True)
class Configuration:
    values: dict
    folder: Path

    def special_tokens(self) -> dict[str, str]:
        """bos_token and the like: their texts."""
        found = {name: text_of(self.values.get(name)) for name in SPECIAL}
        return {name: text for name, text in found.items() if text is not None}

    def added_tokens(self) -> dict[str, int]:
        """The texts of added_tokens_decoder with their numbers."""
        listed = self.values.get("added_tokens_decoder")
        texts = {number: text_of(token) for number, token in (listed if isinstance(listed, dict) else {}).items()}
        return {text: int(number) for number, text in texts.items() if text is not None and number.isdecimal()
                and len(number) < 19}

    def adds(self, which: str) -> bool | None:
        """add_bos_token or add_eos_token; None if the file does not say."""
        value = self.values.get(f"add_{which}_token")
        return value if isinstance(value, bool) else None

    def chat_template(self) -> str | None:
        return self.chat_templates().get("default")

    def chat_templates(self) -> dict[str, str]:
        """By name: `default`, and others such as `tool_use`."""
        found = self.values.get("chat_template")
        if isinstance(found, str):
            found = [{"name": "default", "template": found}]
        named = {entry["name"]: entry["template"] for entry in (found if isinstance(found, list) else ())
                 if isinstance(entry, dict) and isinstance(entry.get("name"), str)
                 and isinstance(entry.get("template"), str)}
        files = [("default", self.folder / "chat_template.jinja"),
                 *((path.stem, path) for path in sorted((self.folder / "additional_chat_templates").glob("*.jinja")))]
        return named | {name: read_text(path) for name, path in files if path.is_file()}


def text_of(token) -> str | None:
    """The text of a token, which is the text itself, or an object with the text as its `content`."""
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else None


def read_configuration(folder: Path) -> Configuration:
    path = folder / "tokenizer_config.json"
    return Configuration(read_json(path) if path.is_file() else {}, folder)


def find_tokenizer(argument: str) -> Path:
    """The file of a tokenizer, given its path or its directory."""
    path = Path(argument)
    if path.is_dir():
        for name in ("tokenizer.json", "tokenizer.model"):
            if (path / name).is_file():
                return path / name
        raise UserError(f"'{path}' has neither tokenizer.json nor tokenizer.model")
    if not path.is_file():
        raise UserError(f"'{path}' does not exist; --tokenizer takes a directory, a file, or the word `bytes`")
    return path
