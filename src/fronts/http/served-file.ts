import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** A file of the package as it is served. The tag changes with the content. */
interface ServedFile {
  readonly body: Buffer
  readonly tag: string
}

const kept = new Map<string, Promise<ServedFile>>()

/** Returns a file, which is read and hashed for its first request alone: requests without a key have no rate. Never for a name from outside. */
export function servedFile(url: URL): Promise<ServedFile> {
  const known = kept.get(url.href)
  if (known) return known
  const file = read(url)
  kept.set(url.href, file)
  // A read that failed is tried again by the next request.
  file.catch(() => kept.delete(url.href))
  return file
}

async function read(url: URL): Promise<ServedFile> {
  const body = await readFile(url)
  return { body, tag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}
