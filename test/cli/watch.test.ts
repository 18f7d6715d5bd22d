import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { start } from './terminal.ts'

test('watch shows what waits for a person, and again when that changes', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const terminal = start(['watch', '--notify'], { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey, PATH: '/none' })
  await terminal.until(/Nothing waits for you\./)
  const { id } = await gateway.send('donna', 'deploy')
  await gateway.move(donna, id, 'input-required', { message: 'Where?\u001b[2J' })
  await terminal.until(/input +@donna .*Where\?/)
  expect(terminal.stdout()).not.toContain('\u001b[2J')
  await terminal.until(/No notification: the program for notifications is not installed\./)
  await gateway.call('POST', `/v1/tasks/${id}/transitions`, { to: 'canceled', expectedVersion: 2 })
  await terminal.until(/Nothing waits for you\.\n[\s\S]*Nothing waits for you\./)
  terminal.interrupt()
  expect(await terminal.code).toBe(130)
})

test('watch with a wrong key says so, and ends', async () => {
  await using gateway = await startGateway()
  const terminal = start(['watch'], { ROUSE_URL: gateway.url, ROUSE_KEY: `rk_${'x'.repeat(43)}` })
  expect(await terminal.code).toBeGreaterThan(0)
  expect(terminal.stderr()).toContain('key')
})
