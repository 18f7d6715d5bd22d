import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { noticeOf, showNotice } from '../../src/cli/listen/desktop.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { start } from './terminal.ts'

const wake = (payload: object, eventType = 'wake/need_changed') => ({
  eventType,
  eventId: 'e',
  payload: { ...payload },
})

/** A program in the place of one that shows notifications: it writes its arguments, one a line. */
function fakeProgram(directory: string, name: string): { readonly path: string; readonly shown: () => string[] } {
  const shown = join(directory, 'shown')
  writeFileSync(shown, '')
  writeFileSync(join(directory, name), `#!/bin/sh\nfor one in "$@"; do printf '%s\\n' "$one" >> '${shown}'; done\n`)
  chmodSync(join(directory, name), 0o755)
  return { path: directory, shown: () => readFileSync(shown, 'utf8').split('\n').slice(0, -1) }
}

describe('a notification', () => {
  test.each([
    [
      { change: 'raised', kind: 'input', agent: '@donna', subject: 'Where?' },
      { title: '@donna asks', body: 'Where?' },
    ],
    [
      { change: 'raised', kind: 'gate', agent: null, subject: 'too many acts' },
      { title: 'The project is no longer helped by recovery', body: 'too many acts' },
    ],
    [
      { change: 'cleared', kind: 'degraded', agent: '@donna' },
      { title: '@donna is woken again', body: '' },
    ],
    [{ change: 'cleared', kind: 'input', agent: '@donna' }, undefined],
    [
      { change: 'raised', kind: 'constructor', agent: '@donna', subject: '--icon=/etc/passwd\u001b[2J\u202e' },
      { title: '@donna needs you', body: ' --icon=/etc/passwd[2J' },
    ],
  ])('of %o', (payload, notice) => {
    expect(noticeOf(wake(payload))).toEqual(notice)
  })

  test('of a digest says how many there are, and the newest', () => {
    const latestSignal = { signal: 'need.raised', change: 'raised', kind: 'mail', agent: '@donna', subject: 'May I?' }
    expect(noticeOf(wake({ eventCount: 3, latestSignal }, 'wake/digest'))).toEqual({
      title: 'Rouse: 3 events',
      body: '@donna wrote to the operator. May I?',
    })
  })

  test('hands the words of others over as arguments, and as no markup', async () => {
    using place = dataDirectory()
    const program = fakeProgram(place.path, 'notify-send')
    await showNotice({ title: '@donna asks', body: '<b>$(id)</b> & `id`' }, { env: { PATH: place.path } }, 'linux')
    expect(program.shown()).toEqual(['--app-name=Rouse', '--', '@donna asks', '&lt;b&gt;$(id)&lt;/b&gt; &amp; `id`'])
    const mac = fakeProgram(place.path, 'osascript')
    await showNotice(
      { title: '@donna asks', body: '" & (do shell script "id") & "' },
      { env: { PATH: place.path } },
      'darwin',
    )
    const words = mac.shown()
    expect(words.slice(-2)).toEqual(['@donna asks', '" & (do shell script "id") & "'])
    expect(words.slice(0, -2).join('\n')).not.toContain('donna')
  })
})

describe.runIf(process.platform === 'linux')('rouse listen --notify', () => {
  test('shows on the desktop what waits for a person, and again what could not be shown', async () => {
    await using gateway = await startGateway()
    using place = dataDirectory()
    const donna = await gateway.addAgent('donna')
    const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey, PATH: place.path }
    const terminal = start(['listen', '--notify', '--retry-for', '1m'], env)
    await terminal.until(/Subscribed to NEED_CHANGED as WAKE_SUB:/)
    await terminal.until(/Listening to/)
    await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'May I delete it?' }, donna)
    await terminal.until(/No notification: the program for notifications is not installed/)
    const program = fakeProgram(place.path, 'notify-send')
    await until(program.shown, (words) => words.length === 4)
    expect(program.shown().slice(2)).toEqual(['@donna wrote to the operator', 'May I delete it?'])
    terminal.interrupt()
    expect(await terminal.code).toBe(130)
  })

  test('takes no command beside it', async () => {
    const terminal = start(['listen', '--notify', '--exec', 'true'])
    expect(await terminal.code).toBe(2)
    expect(terminal.stderr()).toContain('--notify runs no command')
  })
})
