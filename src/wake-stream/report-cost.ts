/** So many receipts cost the gateway as much as one small request: each is looked up, and most are written. */
const receiptsOfOne = 10

/** Returns how many requests a report counts as, beside the one that it is. Pure. */
export function furtherOfReport(receipts: number): number {
  return Math.floor(receipts / receiptsOfOne)
}
