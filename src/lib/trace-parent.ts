/**
 * Returns a `traceparent` as it was given, if it is one that can be continued; otherwise undefined, as if there were none. A later
 * version may have more after the flags, which nobody else understands: it is left out. Source: W3C Trace Context, 3.2.
 */
export function readTraceparent(given: string | undefined): string | undefined {
  const [, version, traceId, parentId, flags, more] = pattern.exec(given?.trim() ?? '') ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== '')) return undefined
  if (/^0+$/.test(traceId!) || /^0+$/.test(parentId!)) return undefined
  return `00-${traceId}-${parentId}-${flags}`
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})((?:-.{0,500})?)$/
