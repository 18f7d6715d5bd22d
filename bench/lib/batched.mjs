/**
 * Joins calls that arrive while a batch is on its way into the next one: what a careful user of a queue does in front of
 * its insert. `write(items)` gets at most `batchMax` of them; at most `writersMax` batches are on their way.
 */
export function batched(write, { batchMax = 100, writersMax = 2 } = {}) {
  const waiting = []
  let writers = 0

  const flush = async () => {
    writers++
    await Promise.resolve() // whoever calls before it runs joins
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchMax)
      try {
        await write(batch.map(({ item }) => item))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    writers--
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (writers < writersMax) void flush()
    })
}
