import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

test('needs lists what waits for a person, and how to answer it', async () => {
  await using gateway = await startGateway()
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  expect((await run(['needs'], env)).stdout).toBe('Nothing waits for you.\n')
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'deploy')
  await gateway.move(donna, id, 'input-required', { message: 'Where?\u001b[2J' })
  const { code, stdout } = await run(['needs'], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^KIND .*\ninput +@donna +\\S+Z +${id} +Where\\?`))
  expect(stdout).not.toContain('\u001b[2J')
  expect(stdout).toContain(`rouse answer ${id} "…"`)
  const json = JSON.parse((await run(['needs', '--json'], env)).stdout)
  expect(json).toMatchObject({ needs: [{ kind: 'input', agent: '@donna', taskId: id }], more: false })
})
