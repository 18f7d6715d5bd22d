/**
 * Work for the end of the test, or of the file, that runs now. The files of a run share their modules: a helper is loaded once,
 * for whichever file comes first, so it cannot leave `afterEach` and `afterAll` to vitest itself.
 */
type Work = () => unknown

const ofTest: Work[] = []
const ofFile: Work[] = []

export function atTestEnd(work: Work): void {
  ofTest.push(work)
}

export function atFileEnd(work: Work): void {
  ofFile.push(work)
}

export const endTest = () => runAll(ofTest)
export const endFile = () => runAll(ofFile)

/** Work that such work adds runs after all that was there before. */
async function runAll(list: Work[]): Promise<void> {
  for (let work = list.shift(); work; work = list.shift()) await work()
}
