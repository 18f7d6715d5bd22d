/**
 * Flags of V8 for processes that end soon: what they would optimise, they hardly run again. With them a gateway starts at three
 * quarters of the CPU time.
 */
export const shortRun = ['--interrupt-budget=1000000', '--min-semi-space-size=16']

/** The same for a worker of the tests, which lives for minutes and makes more garbage. */
export const workerRun = ['--interrupt-budget=600000', '--max-semi-space-size=64']
