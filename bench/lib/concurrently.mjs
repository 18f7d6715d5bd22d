/** Does `count` things, so many at a time. Returns their results in order. */
export async function concurrently(atOnce, count, act) {
  const results = new Array(count)
  let next = 0
  const work = async () => {
    while (next < count) {
      const index = next++
      results[index] = await act(index)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}
