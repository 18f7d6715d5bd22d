import { spawn } from 'node:child_process'
import type { Io } from '../../client/io.ts'
import { withoutSecrets } from '../../client/secret-input.ts'

/** The program that opens an address in the user's browser, and the words before the address. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // Not `start`: cmd.exe would interpret the address.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** A program that still runs after this has found a browser, in ms. */
const settledMs = 3_000

/** Opens an address (http or https) in the browser of this machine. Returns whether that succeeded, as far as its program says. */
export function openBrowser(url: string, { env }: Pick<Io, 'env'>, platform = process.platform): Promise<boolean> {
  const [program, ...words] = openers[platform] ?? ['xdg-open']
  return new Promise((resolve) => {
    const child = spawn(program, [...words, url], { env: withoutSecrets(env), stdio: 'ignore', detached: true })
    const settled = setTimeout(() => resolve(true), settledMs)
    const end = (isOpen: boolean) => {
      clearTimeout(settled)
      resolve(isOpen)
    }
    child.once('error', () => end(false))
    child.once('exit', (code) => end(code === 0))
    child.unref()
  })
}
