/** The time-out of a waiting hook, in its configuration. Longer ones were not tried. */
export const rewakeSeconds = 600

/** How long it waits: Claude Code kills it at its time-out without a word, and a wake of that moment would be lost. */
export const waitSeconds = rewakeSeconds - 15
