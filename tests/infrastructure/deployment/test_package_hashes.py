"""Test that only packages with locked hashes are installed, for every platform and Python."""

import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from infrastructure.deployment.dependencies import THIS_MACHINE, Runtime, install
from infrastructure.deployment.progress import DeploymentError

OTHER = Runtime("3.13", "aarch64-manylinux2014")
WHEELS = {
    THIS_MACHINE: "sample-1.0-py3-none-any.whl",
    OTHER: "sample-1.0-cp313-cp313-manylinux_2_17_aarch64.whl",
}


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create one wheel per runtime, and make uv search for packages only in their folder."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in WHEELS.values():
        with zipfile.ZipFile(folder / name, "w") as archive:
            info = "sample-1.0.dist-info"
            tag = name.removeprefix("sample-1.0-").removesuffix(".whl")
            archive.writestr("sample.py", name)
            archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
            archive.writestr(
                f"{info}/METADATA", "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n"
            )
            archive.writestr(f"{info}/RECORD", "sample.py,,\n")
    for variable, value in {
        "UV_NO_CONFIG": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(folder),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(variable, value)
    return folder


def lock(folder: Path, *digests: str) -> Path:
    requirements = folder / "requirements.txt"
    hashes = "".join(f" \\\n    --hash=sha256:{digest}" for digest in digests)
    requirements.write_text(f"sample==1.0{hashes}\n")
    return requirements


@pytest.mark.parametrize("runtime", [THIS_MACHINE, OTHER])
def test_locked_wheel_of_runtime_replaces_earlier_packages(
    runtime: Runtime, tmp_path: Path, wheels: Path
) -> None:
    digests = [sha256((wheels / name).read_bytes()).hexdigest() for name in WHEELS.values()]
    vendor = tmp_path / "vendor"
    vendor.mkdir()
    (vendor / "removed.py").touch()
    install(vendor, runtime, requirements=lock(tmp_path, *digests))
    assert (vendor / "sample.py").read_text() == WHEELS[runtime]
    assert not (vendor / "removed.py").exists()


@pytest.mark.parametrize("runtime", [THIS_MACHINE, OTHER])
@pytest.mark.parametrize("digests", [[], ["0" * 64]])
def test_wheel_without_locked_hash_is_rejected(
    digests: list[str], runtime: Runtime, tmp_path: Path
) -> None:
    with pytest.raises(DeploymentError, match="sample"):
        install(tmp_path / "vendor", runtime, requirements=lock(tmp_path, *digests))
    assert not (tmp_path / "vendor" / "sample.py").exists()


def test_wheel_of_another_runtime_is_rejected(tmp_path: Path, wheels: Path) -> None:
    (wheels / WHEELS[THIS_MACHINE]).unlink()
    requirements = lock(tmp_path, sha256((wheels / WHEELS[OTHER]).read_bytes()).hexdigest())
    with pytest.raises(DeploymentError, match="platform"):
        install(
            tmp_path / "vendor",
            Runtime("3.13", "x86_64-manylinux2014"),
            requirements=requirements,
        )
