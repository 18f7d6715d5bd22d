import { expect, test } from 'vitest'
import { chooseAccess } from '../../../src/cli/options/choose-access.ts'

const home = { url: 'http://127.0.0.1:4520', key: 'rk_home', identity: '@donna' }
const work = { url: 'https://rouse.example', key: 'rk_work', identity: '@operator', project: 'web' }
const byName = new Map(Object.entries({ home, work }))

type Case = [options: object, env: Record<string, string>, current: string | undefined, expected: object]

test.each<Case>([
  // Without anything: the default address, and the other sources of keys.
  [{}, {}, undefined, { url: home.url, profile: undefined, project: undefined }],
  [{}, {}, 'work', { url: work.url, profile: { name: 'work', ...work }, project: 'web' }],
  [{}, { ROUSE_PROFILE: 'home' }, 'work', { url: home.url, profile: { name: 'home' }, project: undefined }],
  [{ profile: 'work' }, { ROUSE_PROFILE: 'home' }, 'home', { url: work.url, profile: { name: 'work' } }],
  // The environment comes before the profile, a flag before the environment.
  [{}, { ROUSE_KEY: 'rk_x' }, 'work', { url: work.url, profile: undefined, project: undefined }],
  [{}, { ROUSE_KEY_FILE: 'f' }, 'work', { profile: undefined }],
  [
    { profile: 'work' },
    { ROUSE_KEY: 'rk_x', ROUSE_URL: home.url },
    undefined,
    { url: work.url, profile: { name: 'work' } },
  ],
  [{ profile: 'work', keyFile: 'f' }, {}, undefined, { url: work.url, profile: undefined, project: undefined }],
  [{ project: 'blue' }, { ROUSE_PROJECT: 'red' }, 'work', { project: 'blue' }],
  [{}, { ROUSE_PROJECT: 'red' }, 'work', { project: 'red' }],
  [{ profile: 'work' }, { ROUSE_PROJECT: 'red' }, undefined, { project: 'web' }],
  // The key of the profile in use is for its own gateway.
  [{ url: 'http://127.0.0.1:1' }, {}, 'work', { url: 'http://127.0.0.1:1', profile: undefined, project: undefined }],
  [{}, { ROUSE_URL: 'https://other.example' }, 'work', { url: 'https://other.example', profile: undefined }],
  [{ url: `${work.url}/` }, {}, 'work', { url: work.url, profile: { name: 'work' } }],
])('of the flags %j, the environment %j and the profile %s it takes %j', (options, env, current, expected) => {
  expect(chooseAccess(options, env, { current, byName })).toMatchObject(expected)
})

test.each<[object, Record<string, string>, RegExp]>([
  [{ profile: 'none' }, {}, /There is no profile "none"\. There are: home, work\./],
  [{}, { ROUSE_PROFILE: 'none' }, /There is no profile "none"/],
  [
    { profile: 'work', url: 'https://other.example' },
    {},
    /Profile work is for https:\/\/rouse\.example, so its key is not/,
  ],
  [
    {},
    { ROUSE_PROFILE: 'work', ROUSE_URL: 'https://other.example' },
    /its key is not sent to https:\/\/other\.example/,
  ],
])('the flags %j with the environment %j are a mistake', (options, env, message) => {
  expect(() => chooseAccess(options, env, { current: undefined, byName })).toThrow(message)
})
