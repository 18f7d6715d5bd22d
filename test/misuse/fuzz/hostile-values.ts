/** A source of random choices that its seed repeats. */
export interface Dice {
  /** A number in [0, 1). */
  roll(): number
  pick<T>(from: readonly T[]): T
  chance(of: number): boolean
}

export function dice(random: () => number): Dice {
  return {
    roll: random,
    pick: (from) => from[Math.floor(random() * from.length)]!,
    chance: (of) => random() < of,
  }
}

const deep = (levels: number, open: string, close: string): unknown => {
  try {
    return JSON.parse(open.repeat(levels) + close.repeat(levels))
  } catch {
    return null
  }
}

/** JSON values that parsers, databases and regular expressions have stumbled over. */
export const hostileValues: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => '',
  () => ' ',
  () => 0,
  () => -1,
  () => 0.0005,
  () => 1e308,
  () => -1e308,
  () => 2 ** 31,
  () => 2 ** 53,
  () => 2 ** 63,
  () => 1e-320,
  () => [],
  () => ({}),
  () => [[]],
  () => [null],
  () => ['', '', ''],
  () => deep(60, '[', ']'),
  () => deep(70, '[', ']'),
  () => JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`),
  () => JSON.parse('{"__proto__":{"polluted":true}}'),
  () => JSON.parse('{"constructor":{"prototype":{"polluted":true}}}'),
  () => ({ toString: 1, valueOf: 2, hasOwnProperty: 3, length: -1 }),
  () => '__proto__',
  // As many bytes as it says, if somebody makes a buffer of it.
  () => ({ length: 1_000_000_000 }),
  () => 'constructor',
  () => 'toString',
  () => '\ud800',
  () => '\udfff tail',
  () => 'a\u0000b',
  () => '\u202egnirts',
  () => '\u2028line\u2029',
  () => 'line\r\nX-Injected: 1',
  () => '\u001b[31mred\u001b[0m',
  () => 'ﷺ'.repeat(200),
  () => 'a'.repeat(201),
  () => 'a'.repeat(5_000),
  () => 'é'.repeat(70_000),
  () => "'; drop table task; --",
  () => '" or 1=1 --',
  () => '%00%0a%0d',
  () => '../../../../etc/passwd',
  () => '..%2f..%2fetc%2fpasswd',
  () => 'http://169.254.169.254/latest/meta-data/',
  () => 'http://[::ffff:127.0.0.1]:22/',
  () => `http://${'.'.repeat(1_000)}a/`,
  () => 'file:///etc/passwd',
  () => 'javascript:alert(1)',
  () => 'NaN',
  () => 'Infinity',
  () => '9'.repeat(400),
  () => '1e400',
  () => '0x7fffffffffffffff',
  () => '9999-12-31T23:59:59.999+99:99',
  () => '-271821-04-20T00:00:00.000Z',
  () => '275760-09-13T00:00:00.001Z',
  () => '@donna',
  () => 'other:@zoe',
  () => '@all',
  () => '@operator',
  () => '@gateway',
  () => '*',
  () => Array.from({ length: 101 }, (_, i) => `c${i}`),
  () => Array.from({ length: 2_000 }, () => ({})),
  () => Array.from({ length: 500 }, () => 'x'.repeat(200)),
  () => Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i])),
  () => ({ text: 'x', raw: 'AA==', url: 'http://a/', data: {} }),
]

/** JSON texts that no serialiser writes: duplicate keys, bad bytes, half a document. */
export const hostileTexts: readonly ((json: string) => Buffer)[] = [
  (json) => Buffer.from(json.slice(0, Math.floor(json.length / 2))),
  (json) => Buffer.from(json.replace('{', '{"__proto__":{"a":1},')),
  (json) => Buffer.from(json.replace(/"([a-z]+)":/i, '"$1":null,"$1":')),
  (json) => Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from([0xff, 0xfe, 0xc0, 0x80])]),
  (json) => Buffer.from(json.replace(/[a-z]/i, '\\ud800')),
  (json) => Buffer.from(json.replace(/\d/, '1e99999')),
  (json) => Buffer.from(`\ufeff${json}`),
  (json) => Buffer.from(`${json}${json}`),
  (json) => Buffer.from(`[${json}]`),
  () => Buffer.from('"x"'),
  () => Buffer.from('null'),
  () => Buffer.from('[]'),
  () => Buffer.from('7'),
  () => Buffer.from('['.repeat(100_000)),
  () => Buffer.from('{"a":'.repeat(50_000)),
  () => Buffer.from(`[${'1,'.repeat(150_000)}1]`),
  () => Buffer.alloc(0),
  () => Buffer.alloc(1_000),
]
