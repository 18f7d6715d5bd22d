/** Returns a segment of a path with its percent-encoding decoded; one that is not valid is returned as it is. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
