import { FakeClock } from './fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from './gateway.ts'
import { until } from './until.ts'

interface Crowded extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly mallory: TestAgent
  /** Mallory reads while bob is active, and gets a status. */
  read(path: string): Promise<number>
}

/** A project where a large answer is followed by a long wait. */
export async function startCrowded(): Promise<Crowded> {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { largeMegabytesPerMinute: 1 } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const read = async (path: string) => {
    await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
    let status: number | undefined
    void gateway.call('GET', path, undefined, { key: mallory.key }).then((answer) => (status = answer.status))
    // The refusal of what is expected to be large comes up to a second later.
    const answered = await until(
      () => {
        clock.advance(10)
        return status
      },
      (given) => given !== undefined,
    )
    return answered!
  }
  return { gateway, mallory, read, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}
