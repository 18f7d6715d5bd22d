/** A flag of V8 for processes that end soon: they collect their garbage less often. */
export const shortRun = ['--min-semi-space-size=16']

/** The same for a worker of the tests, which lives for minutes and makes more garbage. */
export const workerRun = ['--max-semi-space-size=64']
