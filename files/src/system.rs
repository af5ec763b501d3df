//! Reading files at an offset, for Unix and for Windows.

use std::fs::File;
use std::io;

/// Fills `to` with the bytes of a file from `offset` on. Several threads may read at a time.
#[cfg(unix)]
pub fn read_at(file: &File, to: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, offset)
}

/// Fills `to` with the bytes of a file from `offset` on. Several threads may read at a time, because nothing uses the file's own place.
#[cfg(windows)]
pub fn read_at(file: &File, mut to: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !to.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, to, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                to = &mut to[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
