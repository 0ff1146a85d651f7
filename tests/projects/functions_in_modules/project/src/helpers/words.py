def first_word(text):
    return text.split()[0] if text else None
