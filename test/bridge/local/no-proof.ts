/** A bridge that proves nothing. */
export const noProof = async () => ({ state: 'failed' as const, detail: 'there is no recipe' })
