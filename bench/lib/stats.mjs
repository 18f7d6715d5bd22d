/** The value below which a share `q` of the values lies. NaN of nothing. */
export function quantile(values, q) {
  if (values.length === 0) return Number.NaN
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The result of repetitions: their median, smallest and largest value. */
export function summary(values) {
  const known = values.filter((value) => Number.isFinite(value))
  if (known.length === 0) return undefined
  return { median: median(known), min: Math.min(...known), max: Math.max(...known) }
}

/** Repetition by repetition, because the two ran one after the other on the same machine in the same minute. */
export function ratios(ours, theirs) {
  return ours.map((value, repetition) => value / theirs[repetition])
}
