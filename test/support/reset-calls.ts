const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))])
const cancel = Buffer.from([0, 0, 0, 8])

/** Returns the bytes of a client that begins `count` gRPC calls on a new connection and resets each of them at once. */
export function resetCalls(count: number, path = '/lf.a2a.v1.A2AService/GetTask'): Buffer {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'a',
    te: 'trailers',
    'content-type': 'application/grpc',
  }
  const block = Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value)))
  const calls = Array.from({ length: count }, (_, index) => {
    const stream = 2 * index + 1
    return Buffer.concat([frame(1, 4, stream, block), frame(3, 0, stream, cancel)])
  })
  return Buffer.concat([preface, ...calls])
}

/** A header field of HPACK without index and compression. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
