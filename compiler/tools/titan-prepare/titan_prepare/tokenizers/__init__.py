"""Tokenizers behind one interface, `Tokenizer`. Each gives the tokens that the library of its format gives."""
