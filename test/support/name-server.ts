import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { NameResolverOptions } from '../../src/security/name-resolver.ts'
import { createAskName } from '../../src/security/name-servers.ts'

/** The answer of a name server about a name: addresses, that there is no such name, or nothing at all. */
type Zone = (name: string) => readonly string[] | 'no such name' | 'silence'

interface NameServer extends AsyncDisposable {
  /** For a gateway or a resolver: this server and no other. */
  readonly names: NameResolverOptions
  /** The names that were queried, once for each question that came. */
  readonly queries: readonly string[]
}

const [typeA, typeAaaa] = [1, 28]

/** A real name server on a UDP port of 127.0.0.1. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const queries: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = readQuestion(query)
    queries.push(name)
    const said = zone(name)
    if (said === 'silence') return
    const records = said === 'no such name' ? [] : recordsOf(said, type)
    socket.send(answerTo(query.subarray(0, end), records, said === 'no such name'), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    names: { ask: createAskName([`127.0.0.1:${socket.address().port}`]) },
    queries,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** RFC 1035 section 4.1.2. */
function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function recordsOf(addresses: readonly string[], type: number): Buffer[] {
  if (type === typeA)
    return addresses.filter((one) => one.includes('.')).map((one) => Buffer.from(one.split('.').map(Number)))
  if (type !== typeAaaa) return []
  return addresses.filter((one) => one.includes(':')).map(bytesOfV6)
}

function bytesOfV6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => part.split(':').filter(Boolean)
  const zeros = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => '0')
  const all = [...groups(head), ...(address.includes('::') ? zeros : []), ...groups(tail)]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

/** RFC 1035 section 4.1.3: the question again, then the records, each naming the question's name. */
function answerTo(question: Buffer, records: readonly Buffer[], isAbsent: boolean): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(isAbsent ? 0x8183 : 0x8180, 2)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(0, 10)
  const answers = records.map((data) => {
    const fixed = Buffer.alloc(12)
    fixed.writeUInt16BE(0xc00c, 0)
    fixed.writeUInt16BE(data.length === 4 ? typeA : typeAaaa, 2)
    fixed.writeUInt16BE(1, 4)
    fixed.writeUInt32BE(60, 6)
    fixed.writeUInt16BE(data.length, 10)
    return Buffer.concat([fixed, data])
  })
  return Buffer.concat([head, ...answers])
}
