"""Files of the Hugging Face hub, by a commit that the protocol pins. The hub's own client does the asking."""

from __future__ import annotations

import os
import re
from pathlib import Path

from darkcurrent.canonical import digest_bytes
from darkcurrent.errors import BatteryError, MissingExtraError

__all__ = ["hub_file"]


def hub_file(dataset: str, revision: str, file: str) -> Path:
    """Return where a file of a data set lies in the hub client's cache, fetched there if need be.

    `HF_ENDPOINT` says where the hub is, `HF_TOKEN` holds the token where one is needed; a token that lies in a file
    is not used. What is in the cache under this commit is not asked for again.

    Raises
    ------
    MissingExtraError
        Where the client is not installed.
    BatteryError
        Where the hub cannot be reached, does not have the file, or answers with another commit.
    """
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import (
            EntryNotFoundError,
            GatedRepoError,
            HfHubHTTPError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ImportError as error:
        raise MissingExtraError("A data set of the hub", "hf") from error
    endpoint = os.environ.get("HF_ENDPOINT") or None
    what = f"{dataset} at {revision[:12]}"
    disable_progress_bars()
    try:
        path = Path(
            hf_hub_download(
                dataset,
                file,
                repo_type="dataset",
                revision=revision,
                endpoint=endpoint,
                token=os.environ.get("HF_TOKEN") or False,
            )
        )
    except GatedRepoError as error:
        raise BatteryError(
            f"The hub gives {dataset} only to those who accepted its terms: accept them there and put a token into HF_TOKEN."
        ) from error
    except RepositoryNotFoundError as error:
        raise BatteryError(
            f"The hub has no data set {dataset} that may be read without a token: check `battery.dataset`, or set HF_TOKEN."
        ) from error
    except RevisionNotFoundError as error:
        raise BatteryError(
            f"The hub has no commit {revision} of {dataset}: check `battery.revision`."
        ) from error
    except (
        LocalEntryNotFoundError
    ) as error:  # a kind of EntryNotFoundError: nothing was asked, or nobody answered
        raise BatteryError(
            f"The hub cannot be reached at {endpoint or 'its own address'}, or what answers there is no hub, and {what} is "
            "not in the cache: check the network and HF_ENDPOINT, or give a local file as `battery.path`."
        ) from error
    except EntryNotFoundError as error:
        raise BatteryError(f"{what} has no file {file}: check `battery.file`.") from error
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "no status")
        raise BatteryError(
            f"The hub answered with HTTP {status} for {what}: try again later, or give a local file as `battery.path`."
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise BatteryError(
            f"{file} of {what} could not be fetched ({str(error).partition(chr(10))[0][:120]}): check HF_ENDPOINT and the "
            "room on the disk, or give a local file as `battery.path`."
        ) from error
    if revision not in path.parts:
        raise BatteryError(
            f"The hub answered with another commit than {revision} of {dataset}: check HF_ENDPOINT."
        )
    blob = (
        path.resolve().name
    )  # the client names what it keeps by the hub's own digest, and checks its size alone
    if re.fullmatch(r"[0-9a-f]{64}", blob) and digest_bytes(path.read_bytes()) != blob:
        raise BatteryError(
            f"{path} is not the file that the hub has for this commit: remove it, so that it is fetched again."
        )
    return path
