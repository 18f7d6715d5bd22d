/** ms since the epoch as ISO 8601. */
export function instant(ms: number): string {
  return new Date(ms).toISOString()
}

export function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : instant(ms)
}
