//! Compresses coordinates by rows: entries are counted by row and distributed, and each row, which is short, is sorted separately.

use super::Starts;
use crate::cpu::engine::Shared;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::operand::Operand;

/// Returns the column of a record. The lower half of a record is the number of the entry.
#[inline(always)]
fn column(record: u64) -> i64 {
    (record >> 32) as i64
}

/// Compresses the coordinates; see [`crate::launch::Compress`].
pub fn compress([crow, col, starts, order]: [&Operand; 4], rows: &Operand, columns: &Operand) -> Result<()> {
    // SAFETY: the operands are row-major int64.
    let (rows, columns) = unsafe { (rows.elements::<i64>(), columns.elements::<i64>()) };
    let (n, count) = (rows.len(), crow.layout().numel() as usize - 1);
    let (mut ends, mut records) = (Operand::row(Dtype::Int64, count as i64 + 1)?, Operand::row(Dtype::Int64, n as i64)?);
    // SAFETY: all are new memory, and no other thread accesses the result `crow`.
    let (ends, records, crow) = unsafe {
        let crow = std::slice::from_raw_parts_mut(crow.first().cast::<i64>(), count + 1);
        (ends.elements_mut::<i64>(), records.elements_mut::<u64>(), crow)
    };
    ends.fill(0);
    for (k, (&row, &column)) in rows.iter().zip(columns).enumerate() {
        if row as usize >= count {
            bail!(Argument, "row {row} of entry {k} is out of range for {count} rows")
        }
        if column as u64 > u64::from(u32::MAX) {
            bail!(Argument, "column {column} of entry {k} is not from 0 to {}", u32::MAX)
        }
        ends[row as usize + 1] += 1;
    }
    (0..count).for_each(|i| ends[i + 1] += ends[i]);
    crow.copy_from_slice(ends);
    // The place of each row advances to the start of the next row.
    for (k, (&row, &column)) in rows.iter().zip(columns).enumerate() {
        let place = &mut ends[row as usize];
        records[*place as usize] = (column as u64) << 32 | k as u64;
        *place += 1;
    }
    distinct(crow, ends, records);
    write(Starts(crow), ends, records, [col, starts, order].map(|out| Shared(out.first())));
    // `ends` has the number of places before each row.
    crow[..count].copy_from_slice(&ends[..count]);
    crow[count] = ends[count];
    Ok(())
}

/// Sorts the records of each row, and sets `before` to the number of distinct columns in the rows before each row.
fn distinct(crow: &[i64], before: &mut [i64], records: &mut [u64]) {
    let (counts, all) = (Shared(before.as_mut_ptr().cast()), Shared(records.as_mut_ptr().cast()));
    Starts(crow).each_piece(8, &|rows| {
        for i in rows {
            let range = Starts(crow).row(i);
            // SAFETY: rows are disjoint.
            unsafe {
                let row = std::slice::from_raw_parts_mut(all.get().cast::<u64>().add(range.start), range.len());
                row.sort_unstable();
                let changes = row.windows(2).filter(|pair| column(pair[0]) != column(pair[1])).count();
                counts.get().cast::<i64>().add(i).write((changes + usize::from(!row.is_empty())) as i64);
            }
        }
    });
    let mut sum = 0;
    before.iter_mut().take(crow.len() - 1).for_each(|count| sum += std::mem::replace(count, sum));
    before[crow.len() - 1] = sum;
}

/// Writes the column of each place, where its entries start, and the entries in order.
fn write(rows: Starts<'_, i64>, before: &[i64], records: &[u64], [col, starts, order]: [Shared; 3]) {
    rows.each_piece(4, &|pieces| {
        for i in pieces {
            let (range, mut place) = (rows.row(i), before[i] as usize);
            for k in range.clone() {
                // SAFETY: entries and places of rows are disjoint, and there are at most as many places as entries.
                unsafe {
                    order.get().cast::<i64>().add(k).write(records[k] as u32 as i64);
                    if k == range.start || column(records[k]) != column(records[k - 1]) {
                        col.get().cast::<i64>().add(place).write(column(records[k]));
                        starts.get().cast::<i64>().add(place).write(k as i64);
                        place += 1;
                    }
                }
            }
        }
    });
    let places = before[rows.count()] as usize;
    // SAFETY: there is room for one start more than there are entries.
    unsafe { starts.get().cast::<i64>().add(places).write(records.len() as i64) };
}
