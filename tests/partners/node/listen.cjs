// Loaded before a server that has a port of its own in its code: lets it listen on loopback and on the port
// that PARTNER_PORT names, 0 for any that is free, and says which one that is. Without PARTNER_PORT it keeps its port.

const net = require('node:net');

const original = net.Server.prototype.listen;

net.Server.prototype.listen = function listen(port, ...rest) {
    // Express hands on its own arguments; whatever is neither port nor host is a callback.
    const callbacks = rest.filter(argument => typeof argument === 'function');
    this.once('listening', () => {
        process.stdout.write(`listening on http://127.0.0.1:${this.address().port}\n`);
    });
    const wanted = process.env.PARTNER_PORT ?? port;
    return original.call(this, Number(wanted), '127.0.0.1', ...callbacks);
};
