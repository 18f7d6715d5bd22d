/** A browser that takes notifications, with the keys of the example of RFC 8291. Nobody answers there. */
export const pushDevice = {
  endpoint: 'https://push.example/device',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
}
