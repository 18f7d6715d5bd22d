// The clock of the gateway, as the dates of its answers bound it: ages are those that the gateway would say, whatever this machine's clock says.
let low = Number.NEGATIVE_INFINITY
let high = Number.POSITIVE_INFINITY

/** A date has whole seconds, and a busy gateway writes one that is a little older, in ms. */
const datedMs = 1_500

/** Takes the Date of an answer, to a request that was sent at `sentAt` (ms of this machine). */
export function hearDate(header, sentAt) {
  const at = Date.parse(header ?? '')
  if (Number.isNaN(at)) return
  const [from, to] = [at - Date.now(), at + datedMs - sentAt]
  // One of the clocks was set.
  const isNew = from > high || to < low
  low = isNew ? from : Math.max(low, from)
  high = isNew ? to : Math.min(high, to)
}

/** The time of the gateway in ms since the epoch; that of this machine while the two agree. */
export const now = () => Date.now() + (low <= 0 && high >= 0 ? 0 : Math.round((low + high) / 2))
