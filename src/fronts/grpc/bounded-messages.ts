import { BinaryReader, getTextEncoding } from '@bufbuild/protobuf/wire'
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { Problem } from '../../errors.ts'
import { sizeLimits } from '../../limits.ts'

/** Stands in for a request that was refused while it was decoded, until the call can be answered. */
export class RefusedMessage {
  readonly problem: Problem

  constructor(problem: Problem) {
    this.problem = problem
  }
}

/**
 * Gives a service the limits of JSON bodies: the number of values, counted before they are created, the depth, and strings that
 * can be stored. A request beyond them is decoded to a `RefusedMessage`.
 */
export function bounded<Service extends ServiceDefinition<UntypedServiceImplementation>>(service: Service): Service {
  const methods = Object.entries(service).map(([name, method]) => {
    const decode = method.requestDeserialize as (bytes: Buffer) => object
    return [name, { ...method, requestDeserialize: (bytes: Buffer) => readBounded(decode, bytes) }]
  })
  return Object.fromEntries(methods) as Service
}

function readBounded(decode: (bytes: Buffer) => object, bytes: Buffer): object {
  try {
    // The generated decoders also accept a reader in place of the bytes.
    const message = decode(new CountingReader(bytes) as unknown as Buffer)
    if (isTooDeep(message)) throw tooDeep()
    return message
  } catch (error) {
    if (error instanceof Problem) return new RefusedMessage(error)
    // The nesting was deeper than the stack.
    if (error instanceof RangeError && /call stack/.test(error.message)) return new RefusedMessage(tooDeep())
    const detail = 'The request is not a message of this method in the wire format of protocol buffers.'
    return new RefusedMessage(new Problem('invalid-request', { detail, cause: error }))
  }
}

/** Counts reads of tags and lengths: every field begins with a tag, every string and message with its length. */
class CountingReader extends BinaryReader {
  #left = 2 * sizeLimits.values.max

  constructor(bytes: Buffer) {
    super(bytes)
    const read = this.uint32
    this.uint32 = () => {
      if (this.#left-- === 0) throw tooMany()
      return read.call(this)
    }
  }

  /** The readers of JSON would find null instead. */
  override double(): number {
    const value = super.double()
    if (Number.isFinite(value)) return value
    throw new Problem('invalid-request', { detail: `A number of the request is ${value}. Send it as a text.` })
  }

  /** Its bytes are looked at, not its text: that takes a tenth of the time. What is not UTF-8 becomes U+FFFD. */
  override string(strict?: boolean): string {
    const bytes = this.bytes()
    if (!bytes.includes(0)) return getTextEncoding().decodeUtf8(bytes, strict)
    throw new Problem('invalid-request', { detail: 'A text of the request contains U+0000. Remove it.' })
  }
}

/** True when objects and arrays are nested deeper than a JSON body may be. Without recursion. */
function isTooDeep(message: object): boolean {
  let level: object[] = [message]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > sizeLimits.depth.max) return true
    const next: object[] = []
    for (const one of level) {
      if (ArrayBuffer.isView(one)) continue
      for (const value of Object.values(one)) if (typeof value === 'object' && value !== null) next.push(value)
    }
    level = next
  }
  return false
}

function tooDeep(): Problem {
  const { max } = sizeLimits.depth
  return new Problem('invalid-request', {
    detail: `The request has more than ${max} levels of nested messages and values. Send a flatter value.`,
    extra: { limit: 'depth', max },
  })
}

function tooMany(): Problem {
  const { max } = sizeLimits.values
  return new Problem('payload-too-large', {
    detail: `The request has more than ${max} values. Send fewer, or send the data as a file or a URL.`,
    extra: { limit: 'values', max },
  })
}
