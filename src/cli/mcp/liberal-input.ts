import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/server'
import { readMessage } from '../../fronts/mcp/liberal-message.ts'
import { isJsonObject } from '../../lib/json.ts'

/**
 * The lines that a client writes, as the library reads them: it would pass over a request that is not exactly of the protocol, and the client
 * would wait for ever. Of a batch each message is a line. What is no message, and no request that could be answered, is left to the library.
 * @param refuse writes the refusal of a request, with its id
 */
export function liberalInput(refuse: (line: string) => void): Transform {
  const decoder = new StringDecoder('utf8')
  let begun: string[] = []
  let length = 0
  const linesOf = (line: string): string => {
    const given = jsonIn(line)
    if (given === undefined) return `${line}\n`
    return [given]
      .flat()
      .flatMap((message) => lineOf(message, refuse))
      .join('')
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const [first = '', ...others] = decoder.write(chunk).split('\n')
      begun.push(first)
      length += first.length
      for (const next of others) {
        this.push(linesOf(begun.join('')))
        begun = [next]
        length = next.length
      }
      // The library refuses a line of this length, and ends.
      if (length > STDIO_DEFAULT_MAX_BUFFER_SIZE) {
        this.push(begun.join(''))
        begun = []
      }
      done()
    },
  })
}

function lineOf(given: unknown, refuse: (line: string) => void): string[] {
  try {
    return [`${JSON.stringify(readMessage(given))}\n`]
  } catch (error) {
    const id = isJsonObject(given) ? given.id : undefined
    if (typeof id !== 'string' && typeof id !== 'number') return [`${JSON.stringify(given)}\n`]
    refuse(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32600, message: (error as Error).message } }))
    return []
  }
}

/** The JSON of a line; undefined for anything else. */
function jsonIn(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
