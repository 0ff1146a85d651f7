"""The workspace of a bundle: its folders and its user, on this machine or as a deployment would have them."""

import getpass
import re
from pathlib import Path

from dlt_local.bundle.document import Value


def workspace(root: Value, target: str, folder: Path, deployer: str | None) -> Value:
    """The bundle's settings with the values of `workspace` that the command line would ask a workspace for.

    Args:
        root: the bundle's settings, the target's merged in.
        target: the target's name.
        folder: the bundle's folder, the workspace of a local run.
        deployer: the name of a workspace's user; None for a local run.
    """
    given = root.find("workspace") or root.with_content({})
    user = {"userName": deployer or _local_user()}
    user["short_name"] = short_name(user["userName"])
    if deployer is None:
        # A workspace's id of its user is not known here; the name, which is unique too, stands in for it.
        user["id"] = user["short_name"]
    current = root.with_content({key: root.with_content(text) for key, text in user.items()})
    fields = {**given.fields, "current_user": current}
    if deployer is None:
        fields |= dict.fromkeys(("root_path", "file_path"), root.with_content(str(folder)))
    else:
        path = given.find("root_path") or root.with_content(f"~/.bundle/${{bundle.name}}/{target}")
        home = f"/Workspace/Users/{deployer}/"
        fields["root_path"] = path.with_content(re.sub("^~/", home, path.text))
        for name, below in (("file_path", "files"), ("state_path", "state"), ("resource_path", "resources")):
            fields.setdefault(name, root.with_content(f"${{workspace.root_path}}/{below}"))
    return root.with_content({**root.fields, "workspace": given.with_content(fields)})


def short_name(user: str) -> str:
    """The user's name as the command line shortens it, for names of resources.

    >>> short_name("Ada.Lovelace@example.com")
    'ada_lovelace'
    """
    return normalized(user.partition("@")[0])


def normalized(text: str) -> str:
    """The text in lower case with one underscore for each run of characters that are no letters or digits."""
    return re.sub(r"[\W_]+", "_", text.lower()).strip("_")


def _local_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the user of a container may have no name
        return "local"
