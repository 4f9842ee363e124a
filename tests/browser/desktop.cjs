// A desktop that shows notifications, as far as the session bus is concerned: writes a line for each of them.

const { sessionBus, interface: { Interface, ACCESS_READWRITE } } = require('dbus-next');
const process = require('node:process');

class Notifications extends Interface {
  shown = 0;

  Notify(program, replaces, icon, summary, body) {
    process.stdout.write(`${JSON.stringify({ program, summary, body })}\n`);
    this.shown += 1;
    return this.shown;
  }

  GetCapabilities() {
    return ['body'];
  }

  GetServerInformation() {
    return ['desktop', 'toolnexus', '1', '1.2'];
  }

  CloseNotification() {}
}
Notifications.configureMembers({
  methods: {
    Notify: { inSignature: 'susssasa{sv}i', outSignature: 'u' },
    GetCapabilities: { outSignature: 'as' },
    GetServerInformation: { outSignature: 'ssss' },
    CloseNotification: { inSignature: 'u' },
  },
});

const bus = sessionBus();
bus.export('/org/freedesktop/Notifications', new Notifications('org.freedesktop.Notifications'));
bus.requestName('org.freedesktop.Notifications', 0).then(() => process.stdout.write('ready\n'));
// The parent process is gone.
process.stdin.resume().on('end', () => process.exit(0));
