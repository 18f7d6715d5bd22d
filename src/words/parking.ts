/** The longest time that an agent is parked: eight days, so that a wrong clock silences nobody for long. */
export const parkedMsMax = 8 * 24 * 3_600_000
