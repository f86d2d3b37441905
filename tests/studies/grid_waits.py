"""grid_waits.py: which kernels of a CUDA library for sm_90 wait for the grid ahead of them
(griddepcontrol.wait) and which let the next one begin (griddepcontrol.launch_dependents), told by their code,
without a GPU. Relies on cuobjdump and zstd (on PATH). Run by hand: grid_waits.py LIBRARY [REGEX...];
docs/lab/kernels-log.md has what it found."""
import os
import re
import struct
import subprocess
import sys
import tempfile
from typing import Iterator, List, NamedTuple, Tuple

ZSTD = bytes.fromhex("28b52ffd")
OPCODE, WAIT, RELEASE = 0xfff, 0x82e, 0x82d  # of sm_90: ACQBULK and PREEXIT
SM_90 = 90


class Kernel(NamedTuple):
    """Whether its code holds either instruction."""
    name: str
    waits: bool
    releases: bool


def sections(elf: bytes) -> Iterator[Tuple[str, bytes]]:
    """Name and content; more sections than a header can count stand in the first one."""
    start, = struct.unpack_from("<Q", elf, 0x28)
    size, number, names = struct.unpack_from("<HHH", elf, 0x3a)
    number = number or struct.unpack_from("<Q", elf, start + 32)[0]
    names = names if names != 0xffff else struct.unpack_from("<I", elf, start + 40)[0]
    heads = [struct.unpack_from("<IIQQQQ", elf, start + i * size) for i in range(number)]
    for head in heads:
        begin = heads[names][4] + head[0]
        yield elf[begin:elf.index(b"\0", begin)].decode(), elf[head[4]:head[4] + head[5]]


def kernels(cubin: bytes) -> Iterator[Kernel]:
    """Of one cubin: an instruction has 16 bytes, and its opcode the lowest 12 bits."""
    for name, code in sections(cubin):
        if name.startswith(".text."):
            found = {low & OPCODE for low, _ in struct.iter_unpack("<QQ", code[:len(code) // 16 * 16])}
            yield Kernel(name[len(".text."):], WAIT in found, RELEASE in found)


def listed(library: str) -> Iterator[bytes]:
    """The cubins that cuobjdump knows of."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cuobjdump", "-arch", "sm_90", "-xelf", "all", os.path.abspath(library)], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                yield file.read()


def is_sm_90(elf: bytes) -> bool:
    """By its flags: in the lowest byte, or where that is less than any such number, in the next."""
    flags: int = struct.unpack_from("<I", elf, 0x30)[0]
    low = flags & 0xff
    return (low if low >= 70 else flags >> 8 & 0xff) == SM_90


def compressed(library: str) -> Iterator[bytes]:
    """Those that lie in .ldata as zstd frames, which cuobjdump does not list."""
    with open(library, "rb") as file:
        data = dict(sections(file.read())).get(".ldata", b"")
    starts = [m.start() for m in re.finditer(re.escape(ZSTD), data)]
    for start, end in zip(starts, starts[1:] + [len(data)]):
        elf = subprocess.run(["zstd", "-dcq"], input=data[start:end], capture_output=True, check=False).stdout
        if elf.startswith(b"\x7fELF") and is_sm_90(elf):
            yield elf


def count(what: str, some: List[Kernel]) -> None:
    """One line."""
    print(f"{what}: {len(some)} kernels, {sum(k.waits for k in some)} wait, {sum(k.releases for k in some)} release")


def main(library: str, patterns: List[str]) -> None:
    """Of each source all kernels, and those whose name matches."""
    for source, cubins in (("listed", listed(library)), ("compressed", compressed(library))):
        found = [kernel for cubin in cubins for kernel in kernels(cubin)]
        count(source, found)
        for pattern in patterns:
            count(f"{source}, {pattern}", [k for k in found if re.search(pattern, k.name)])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
