use std::{env, fs};

use crate::system::user_id;

/// Where Linux lists the connections of a machine.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// A connection with both ends open, and one whose other end has been closed.
const LIVE: [&str; 2] = ["01", "08"];

/// Whether the program at the other end of a local connection, from port `from` to our port `to`, runs as the same
/// user, or as root, who may do anything. Every user of the machine can see an address that is passed to a browser, so
/// a secret in it is not enough. If the system does not say, anybody is accepted.
pub(super) fn is_ours(from: u16, to: u16) -> bool {
    let own = user_id();
    // Root's browser is often that of the person who became root.
    let behind = env::var("SUDO_UID").ok().and_then(|id| id.parse().ok()).filter(|_| own == 0);
    let tables = TABLES.iter().filter_map(|path| fs::read_to_string(path).ok());
    match tables.flat_map(|table| owners(&table, from, to)).next() {
        Some(SocketOwner::User(id)) => id == own || id == 0 || Some(id) == behind,
        Some(SocketOwner::Gone) => false,
        None => true,
    }
}

/// Who owns a connection.
#[derive(Debug, PartialEq, Eq)]
enum SocketOwner {
    User(u32),
    /// It was closed, and the system has forgotten its owner.
    Gone,
}

/// The owners of connections from port `from` to port `to`, according to a `table`.
fn owners(table: &str, from: u16, to: u16) -> Vec<SocketOwner> {
    let port = |address: &str| address.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
    let owner = |line: &str| {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let [_, local, remote, state, _, _, _, user, ..] = parts[..] else { return None };
        if port(local) != Some(from) || port(remote) != Some(to) {
            return None;
        }
        Some(if LIVE.contains(&state) { SocketOwner::User(user.parse().ok()?) } else { SocketOwner::Gone })
    };
    table.lines().filter_map(owner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 20 4 0 10 -1
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 20 4 0 10 -1
   3: 0100007F:C351 0100007F:1F90 06 00000000:00000000 00:00000000 00000000     0        0 0 3 0
";

    #[test]
    fn the_other_end_of_a_connection_has_an_owner() {
        assert_eq!(owners(TABLE, 50000, 8080), [SocketOwner::User(1001)]);
        assert_eq!(owners(TABLE, 50001, 8080), [SocketOwner::Gone]);
        assert_eq!(owners(TABLE, 50002, 8080), []);
        assert_eq!(owners("nonsense", 1, 2), []);
    }

    #[test]
    fn a_connection_of_this_process_is_ours() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let to = listener.local_addr().expect("an address").port();
        let stream = std::net::TcpStream::connect(("127.0.0.1", to)).expect("a connection");
        assert!(is_ours(stream.local_addr().expect("an address").port(), to));
    }
}
