"""Import submitit without its configuration of logging, which closes what pytest captures."""

import pytest

with pytest.MonkeyPatch.context() as patched:
    patched.setenv("SUBMITIT_LOG_LEVEL", "NOCONFIG")
    import submitit  # noqa: F401
