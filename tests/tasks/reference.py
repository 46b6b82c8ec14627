"""SCAN's meaning written a second time, by recursion over (position, word) pairs."""

ACTION = {
    "walk": "I_WALK",
    "look": "I_LOOK",
    "run": "I_RUN",
    "jump": "I_JUMP",
    "left": "I_TURN_LEFT",
    "right": "I_TURN_RIGHT",
}


def meaning(tokens: list[tuple[int, str]]) -> list[tuple[str, int]]:
    """The (action, owner) pairs of a command that is known to be one."""
    words = [word for _, word in tokens]
    if "and" in words:
        cut = words.index("and")
        return meaning(tokens[:cut]) + meaning(tokens[cut + 1 :])
    if "after" in words:
        cut = words.index("after")
        return meaning(tokens[cut + 1 :]) + meaning(tokens[:cut])
    if words[-1] == "twice":
        return meaning(tokens[:-1]) * 2
    if words[-1] == "thrice":
        return meaning(tokens[:-1]) * 3
    if "opposite" in words:
        return meaning(tokens[-1:]) + meaning([tokens[0], tokens[-1]])
    if "around" in words:
        return meaning([tokens[0], tokens[-1]]) * 4
    if len(tokens) == 2:
        return meaning(tokens[1:]) + meaning(tokens[:1])
    position, word = tokens[0]
    return [] if word == "turn" else [(ACTION[word], position)]
