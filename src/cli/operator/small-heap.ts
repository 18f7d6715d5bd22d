import { setFlagsFromString } from 'node:v8'

/**
 * Lets V8 collect when the heap is 1.6 times the live size of the last collection. Its default is a multiple that depends on the
 * machine's size, and it keeps the memory: 60 MB more with a backlog of 100,000 events. Collecting sooner costs CPU: a tenth more
 * at 1.4 times, nothing measurable at 2 times.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=60')
}
