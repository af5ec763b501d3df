"""Tests scripts/abi.py: changes of a small header, each of which must be accepted or refused. Usage: python3 c_tests/abi_changes.py"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
import abi

HEADER = """
#include <stdint.h>
#define TH_NODISCARD
typedef enum THColor {
    TH_RED = 1,          ///< Red, not blue.
    TH_GREEN = 2
} THColor;
enum { TH_ALL = -2147483647 - 1 };
typedef struct THPoint {
    /// The position; right of 0.
    int32_t x;
    int32_t y;
    int (*move)(struct THPoint *point, double by);
    char name[8];
    int64_t wide;
    int32_t last;
} THPoint;
typedef struct THHidden THHidden;
typedef int (*THVisit)(const struct THPoint *point, void *context);
extern const THPoint THOrigin;
TH_NODISCARD THPoint *THPoint_new(int32_t x, int32_t y);
int THPoint_visit(const THPoint *point, THVisit visit,
                  void *context);
void THPoint_free(THPoint *point);
#define TH_VERSION_MINOR 1
#define TH_ABI_VERSION 3
"""
SYMBOLS = "THOrigin THPoint_free THPoint_new THPoint_visit"

# A change of the header, and how many entries it adds.
COMPATIBLE = {
    "a function is added": ("void THPoint_free(", "int THPoint_size(void);\nvoid THPoint_free(", 1),
    "a constant is added": ("TH_GREEN = 2", "TH_GREEN = 2, TH_BLUE = 3", 1),
    "a struct is added": ("typedef struct THHidden THHidden;", "typedef struct THHidden { int a; } THHidden;", 2),
    "a parameter is renamed": ("void *context", "void *data", 0),
    "a comment changes": ("Red, not blue", "Not green", 0),
    "the version of the release changes": ("MINOR 1", "MINOR 2", 0),
    "the number of the interface rises": ("TH_ABI_VERSION 3", "TH_ABI_VERSION 4", 0),
}
# A change of the header, and the difference that the script must name.
INCOMPATIBLE = {
    "a function is removed": ("void THPoint_free(THPoint *point);", "", "removed function THPoint_free"),
    "a parameter is removed": ("int32_t x, int32_t y", "int32_t x", "changed function THPoint_new"),
    "the type of a parameter changes": ("int32_t x, int32_t y", "int32_t x, int64_t y", "changed function THPoint_new"),
    "the type of a result changes": ("int THPoint_visit", "int64_t THPoint_visit", "changed function THPoint_visit"),
    "a callback changes": ("void *context);\nextern", "int64_t context);\nextern", "changed callback THVisit"),
    "a variable is removed": ("extern const THPoint THOrigin;", "", "removed variable THOrigin"),
    "a variable changes": ("extern const THPoint", "extern THPoint", "changed variable THOrigin"),
    "fields trade places": ("int32_t x;\n    int32_t y;", "int32_t y;\n    int32_t x;", "THPoint.x: int32_t at 0 -> int32_t at 4"),
    "the type of a field changes": ("int32_t x;", "uint32_t x;", "changed field THPoint.x"),
    "a function in a field changes": ("double by", "float by", "changed field THPoint.move"),
    "an array becomes longer": ("name[8]", "name[16]", "changed struct THPoint: 40 bytes -> 48 bytes"),
    "a field is removed": ("int32_t y;", "", "removed field THPoint.y"),
    "a field fills padding": ("int32_t last;", "int32_t last;\n    int32_t more;", "added field THPoint.more"),
    "a constant changes": ("TH_GREEN = 2", "TH_GREEN = 4", "changed constant TH_GREEN: 2 -> 4"),
    "a constant is removed": ("TH_GREEN = 2", "", "removed constant TH_GREEN"),
    "a negative constant changes": ("-2147483647 - 1", "-1", "changed constant TH_ALL: -2147483648 -> -1"),
    "an enum becomes wider": ("TH_GREEN = 2", "TH_GREEN = 2, TH_BLUE = 0x100000000", "changed enum THColor: 4 bytes -> 8 bytes"),
    "the number of the interface falls": ("TH_ABI_VERSION 3", "TH_ABI_VERSION 2", "TH_ABI_VERSION was 3 and is 2"),
}


class AbiTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.released = abi.read(abi.written(self.interface(HEADER)))

    def interface(self, header, symbols=SYMBOLS):
        header_path, symbols_path = self.folder / "header.h", self.folder / "symbols.txt"
        header_path.write_text(header)
        symbols_path.write_text(symbols)
        return abi.interface(header_path, symbols_path)

    def check(self, *changes, symbols=SYMBOLS):
        """Whether the header with these changes is accepted, and the output."""
        header = HEADER
        for old, new in changes:
            self.assertIn(old, header)
            header = header.replace(old, new)
        with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(output):
            accepted = abi.check(self.released, self.interface(header, symbols))
        return accepted, output.getvalue()

    def test_compatible_changes_are_accepted(self):
        for name, (old, new, added) in COMPATIBLE.items():
            with self.subTest(name):
                accepted, output = self.check((old, new), symbols=SYMBOLS + " THPoint_size")
                self.assertTrue(accepted, output)
                self.assertIn(f": {added} added, 0 incompatible", output)

    def test_incompatible_changes_are_refused_and_named(self):
        for name, (old, new, message) in INCOMPATIBLE.items():
            with self.subTest(name):
                accepted, output = self.check((old, new))
                self.assertFalse(accepted, output)
                self.assertIn(message, output)

    def test_a_higher_number_of_the_interface_permits_changes(self):
        accepted, output = self.check(("void THPoint_free(THPoint *point);", ""), ("TH_ABI_VERSION 3", "TH_ABI_VERSION 4"))
        self.assertTrue(accepted, output)
        self.assertIn("removed function THPoint_free", output)

    def test_a_function_that_the_library_does_not_export_is_removed(self):
        accepted, output = self.check(symbols=SYMBOLS.replace("THPoint_free", ""))
        self.assertFalse(accepted)
        self.assertIn("removed function THPoint_free", output)

    def test_the_interface_has_every_part_of_the_header(self):
        kinds = sorted({key.split()[0] for key in self.released})
        self.assertEqual(kinds, ["callback", "constant", "enum", "field", "function", "struct", "variable"])
        self.assertEqual(self.released["field THPoint.move"], "pointer to int (THPoint *, double) at 8")
        self.assertEqual(self.released["field THPoint.name"], "char[8] at 16")


if __name__ == "__main__":
    unittest.main()
