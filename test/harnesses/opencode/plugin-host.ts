import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { localAddress, thisMachine } from '../../../src/bridge/local/address.ts'
import { pluginText } from '../../../src/harnesses/opencode/adapter/plugin/plugin-text.ts'
import type { FakeOpencode } from './fake-opencode.ts'

interface Hooks {
  event(input: { event: object }): Promise<void>
  'chat.message'(input: { sessionID: string }): Promise<void>
}

/** Loads our plugin into a fake, as OpenCode does: with its client, its events and its hooks. Returns how to end it. */
export async function loadPlugin(
  fake: FakeOpencode,
  env: Record<string, string>,
  directory: string,
): Promise<() => void> {
  // A file of its own for each: a module is loaded once.
  const path = join(mkdtempSync(join(directory, 'plugin-')), 'rouse.mjs')
  writeFileSync(path, pluginText(localAddress(env, thisMachine())!))
  const { Rouse } = (await import(pathToFileURL(path).href)) as { Rouse: (input: object) => Promise<Hooks> }
  const hooks = await Rouse({ client: clientOf(fake), directory })
  const listener = (type: string, properties: object) => {
    void hooks.event({ event: { type, properties } })
    const { info } = properties as { info?: { role?: string; sessionID: string } }
    if (type === 'message.updated' && info?.role === 'user') void hooks['chat.message']({ sessionID: info.sessionID })
  }
  fake.listeners.add(listener)
  return () => {
    fake.listeners.delete(listener)
    // Ends the plugin, as the end of its process does.
    const endings = (globalThis as Record<symbol, Map<string, () => void>>)[Symbol.for('rouse.bridge')]
    endings?.get(directory)?.()
  }
}

/** The client that OpenCode gives to its plugins, as far as the plugin uses it. */
function clientOf(fake: FakeOpencode) {
  const call = async (method: string, path: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`http://127.0.0.1:${fake.port}${path}`, { method, ...sent })
    const text = await response.text()
    const data = text === '' ? undefined : JSON.parse(text)
    return response.ok ? { data, response } : { error: data ?? {}, response }
  }
  type Path = { path: { id: string; messageID?: string } }
  return {
    session: {
      list: () => call('GET', '/session'),
      status: () => call('GET', '/session/status'),
      get: ({ path }: Path) => call('GET', `/session/${path.id}`),
      messages: ({ path }: Path) => call('GET', `/session/${path.id}/message`),
      message: ({ path }: Path) => call('GET', `/session/${path.id}/message/${path.messageID}`),
      promptAsync: ({ path, body }: Path & { body: object }) => call('POST', `/session/${path.id}/prompt_async`, body),
    },
    _client: {
      get: ({ url }: { url: string }) => call('GET', url),
      delete: ({ url }: { url: string }) => call('DELETE', url),
    },
  }
}
