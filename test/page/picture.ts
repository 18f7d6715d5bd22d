import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
const coloursMax = 256

/** Returns a screenshot (PNG of 8 bits, RGB or RGBA) as a PNG with a palette, which is a third as large. */
export function smallPicture(png: Buffer): Buffer {
  const { width, height, pixels, channels } = decode(png)
  const counts = new Map<number, number>()
  const colours = new Uint32Array(width * height)
  for (let at = 0; at < colours.length; at++) {
    const from = at * channels
    const [red, green, blue] = [pixels[from]!, pixels[from + 1]!, pixels[from + 2]!]
    // What is there often stays exactly as it is.
    const exact = (red << 16) | (green << 8) | blue
    colours[at] = exact
    counts.set(exact, (counts.get(exact) ?? 0) + 1)
  }
  const often = [...counts].sort(([, one], [, other]) => other - one).slice(0, coloursMax)
  const palette = often.map(([colour]) => colour)
  const index = new Map(palette.map((colour, at) => [colour, at]))
  const nearest = (colour: number): number => {
    let [best, least] = [0, Number.POSITIVE_INFINITY]
    for (const [at, one] of palette.entries()) {
      const away = [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((colour >> shift) & 255)) ** 2, 0)
      if (away < least) [best, least] = [at, away]
    }
    return best
  }
  const lines = Buffer.alloc((width + 1) * height)
  for (let at = 0; at < colours.length; at++) {
    const colour = colours[at]!
    const found = index.get(colour) ?? nearest(colour)
    index.set(colour, found)
    lines[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = found
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const plte = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const data = deflateSync(lines, { level: 9 })
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', plte),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function decode(png: Buffer) {
  const [width, height, channels] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3]
  const parts: Buffer[] = []
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  }
  const raw = inflateSync(Buffer.concat(parts))
  const size = width * channels
  const pixels = Buffer.alloc(size * height)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (size + 1)]!
    for (let x = 0; x < size; x++) {
      const left = x < channels ? 0 : pixels[y * size + x - channels]!
      const up = y === 0 ? 0 : pixels[(y - 1) * size + x]!
      const corner = x < channels || y === 0 ? 0 : pixels[(y - 1) * size + x - channels]!
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!
      pixels[y * size + x] = raw[y * (size + 1) + 1 + x]! + guess
    }
  }
  return { width, height, pixels, channels }
}

/** The predictor of the PNG specification, section 9.4. */
function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
