// Loaded before the program: a promise that nobody handles, and an exception that nobody catches, each on a signal.
process.on('SIGUSR2', () => void Promise.reject(new RangeError('nobody handles this')))
process.on('SIGWINCH', () => {
  throw new TypeError('nobody catches this')
})
