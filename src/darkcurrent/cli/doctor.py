"""`darkcurrent doctor`."""

from __future__ import annotations

from typing import Any

import typer

from darkcurrent.cli.common import Folder, Json, only_talk, print_json, study_of
from darkcurrent.printable import printable

__all__ = ["command"]


def command(folder: Folder, as_json: Json = False) -> None:
    """Ask every backend who answers; makes no judge call."""
    import asyncio

    from darkcurrent.capture import check_identity, identify
    from darkcurrent.errors import DarkcurrentError
    from darkcurrent.judges import check_artifacts, local_artifacts, open_judge
    from darkcurrent.protocol import load_protocol

    study = study_of(folder)
    protocol = study.frozen.protocol if study.is_frozen else load_protocol(study.protocol_path)

    async def probe(configuration: Any) -> dict[str, Any]:
        if study.is_frozen:
            frozen = study.frozen.configurations[configuration.name]["artifacts"]
            artifacts = check_artifacts(configuration, frozen, folder)
        else:
            artifacts = local_artifacts(configuration, folder)
        async with open_judge(configuration, folder) as judge:
            judge.request_bytes("", "", "", "")  # what cannot be sent is an error here as it is at freezing
            identity = await identify(configuration, judge)
        check_identity(configuration, identity)
        digests = {f"{name}_sha256": sha256 for name, sha256 in artifacts.items()}
        return {"ok": True, "basis": identity.basis, **digests, **identity.facts}

    found: dict[str, dict[str, Any]] = {}
    first: DarkcurrentError | None = None
    for configuration in protocol.configuration:
        try:
            with only_talk():
                found[configuration.name] = asyncio.run(probe(configuration))
        except DarkcurrentError as error:
            first = first or error
            found[configuration.name] = {"ok": False, "error": str(error)}
    if as_json:
        print_json(found)
    else:
        for name, facts in found.items():
            typer.echo(f"{'ok  ' if facts['ok'] else 'FAIL'} {name}")
            for key, value in facts.items():
                if key != "ok":
                    typer.echo(printable(f"       {key}: {value}"))
    if first is not None:
        raise typer.Exit(first.exit_code)
