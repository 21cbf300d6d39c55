"""Tokenizers behind one interface, `Tokenizer`: a module for each format of files (tokenizer.json, SentencePiece, tiktoken)
and one for raw bytes. The tokens equal those of the format's own library.
"""
