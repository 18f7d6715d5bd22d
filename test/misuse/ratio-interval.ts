/** Neighbours are resampled together: what disturbs one request often disturbs the next ones too. */
const blockSize = 20
const resamples = 500

/** The value below which a part of the samples lies. */
export function percentileOf(samples: readonly number[], part: number): number {
  const sorted = Float64Array.from(samples).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/**
 * The interval that holds the ratio of two percentiles with a probability of 90 %: a moving-block bootstrap. What the attack changes is
 * known only where the interval does not contain 1.
 * @param before samples in the order in which they were taken
 * @param after as `before`
 */
export function ratioInterval(before: readonly number[], after: readonly number[], part: number): [number, number] {
  const ratios = Array.from(
    { length: resamples },
    () => percentileOf(resample(after), part) / percentileOf(resample(before), part),
  )
  return [percentileOf(ratios, 0.05), percentileOf(ratios, 0.95)]
}

function resample(samples: readonly number[]): number[] {
  const drawn: number[] = []
  while (drawn.length < samples.length) {
    const from = Math.floor(Math.random() * Math.max(1, samples.length - blockSize + 1))
    drawn.push(...samples.slice(from, from + blockSize))
  }
  return drawn
}
