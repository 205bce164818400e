//! Names and values that are secrets, and names and values that are not.

use super::*;

/// A token by its prefix, in two pieces so that no scanner takes this file for a leak.
fn token(prefix: &str, rest: &str) -> String {
    format!("{prefix}{rest}")
}

#[test]
fn forty_secrets_are_known_by_their_names_or_their_values() {
    let named = [
        ("TOKEN", "hunter2"),
        ("GITHUB_TOKEN", "hunter2"),
        ("github-token", "correct horse"),
        ("githubToken", "swordfish"),
        ("API_KEY", "hunter2"),
        ("OPENAI_API_KEY", "not-a-known-form"),
        ("apiKey", "hunter2"),
        ("x.api.key", "hunter2"),
        ("KEY", "s3cret"),
        ("KEY_2", "hunter2"),
        ("API_KEY2", "hunter2"),
        ("SIGNING_KEY_V1", "hunter2"),
        ("AWS_SECRET_ACCESS_KEY", "/hunter+two/x"),
        ("CLIENT_SECRET", "hunter2"),
        ("SECRET", "hunter"),
        ("DB_PASSWORD", "hunter2"),
        ("PASSWORD", "p@ss"),
        ("PGPASSWORD", "hunter2"),
        ("SMTP_PASS", "hunter2"),
        ("PASS", "hunter2"),
        ("MYSQL_PWD", "hunter2"),
        ("GOOGLE_CREDENTIAL", "hunter2"),
        ("AWS_CREDENTIALS", "hunter2"),
        ("BASIC_AUTH", "me:hunter2"),
        ("AUTH_HEADER", "Bearer hunter2"),
        ("REDIS_AUTH", "hunter2"),
        ("AUTH_TOKEN_1", "hunter2"),
        ("API_TOKENS", "one-two,three-four"),
        ("PIN_TOKEN", "1234567890123456"),
        ("CREDENTIALS_JSON", r#"{"user": "me"}"#),
    ];
    for (name, value) in named {
        assert!(is_secret(name, value), "{name}={value}");
    }
    let by_value = [
        ("X", token("ghp_", "abcdefghijklmnop")),
        ("OPTION", token("sk-", "proj-abcdefghijkl")),
        ("SLACK", token("xoxb-", "1234-5678-abcd")),
        ("AWS", token("AKIA", "IOSFODNN7EXAMPLE")),
        ("SESSION", token("eyJ", "hbGciOiJIUzI1NiJ9.e30.c2ln")),
        (
            "DATABASE_URL",
            "postgres://me:hunter2@localhost/db".to_owned(),
        ),
        ("SOURCE", "https://hunter2@example.com/".to_owned()),
        ("CONFIG", r#"{"password": "hunter2"}"#.to_owned()),
        ("VALUE", "3f2c9a7e1b4d4c7e9f00aa11".to_owned()),
        ("OTHER", "kP9+vX2/qL7mNc4Td8Wz==".to_owned()),
        ("PEM", format!("-----BEGIN {}-----\nMII\n", "PRIVATE KEY")),
    ];
    for (name, value) in by_value {
        assert!(is_secret(name, &value), "{name}={value}");
    }
}

#[test]
fn forty_settings_are_no_secrets() {
    for (name, value) in [
        ("TOKENIZERS_PARALLELISM", "false"),
        ("TOKENIZERS_PARALLELISM", "something-long"),
        ("MAX_TOKENS", "4096"),
        ("MAX_TOKENS", "unlimited"),
        ("AUTH_TYPE", "basic"),
        ("AUTH_TYPE", "kerberos"),
        ("KEYBOARD", "us"),
        ("KEYBOARD", "us-international"),
        ("AUTHOR", "x"),
        ("AUTHOR", "Ada Lovelace"),
        ("FASTMCP_LOG_LEVEL", "ERROR"),
        ("LOG_LEVEL", "WARNING"),
        ("REGION", "us-east-1"),
        ("AWS_REGION", "eu-central-1"),
        ("DATA_DIR", "/srv/data"),
        ("TZ", "America/Argentina/Buenos_Aires"),
        ("HOME", "/home/me"),
        ("PWD", "/home/me/project"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LANG", "en_US.UTF-8"),
        ("NODE_ENV", "production"),
        ("PORT", "8080"),
        ("BASE_URL", "https://api.example.com/v1?region=us-east-1"),
        ("TOKEN_URL", "https://login.example.com/oauth/token"),
        ("PASSWORD_FILE", "/run/secrets/database"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-abcdef/agent.1234"),
        ("SSL_KEY", "~/.ssl/key.pem"),
        ("TOKEN_TTL", "30 minutes"),
        ("NEXT_TOKEN", "page-two"),
        ("SORT_KEY", "created_at"),
        ("PUBLIC_KEY", "the public one"),
        ("NO_AUTH", "everywhere"),
        ("AUTH_SERVER", "login.example.com"),
        ("AUTH_METHODS", "basic,digest"),
        ("PASS_THROUGH", "everything"),
        ("AUTH_ENABLED", "true"),
        ("API_KEY", ""),
        ("API_KEY", "none"),
        ("PASSWORD_LENGTH", "sixteen"),
        ("COMPASS", "north-east"),
        ("MONKEY", "capuchin"),
        ("SECRETARY", "Miss Moneypenny"),
        ("GIT_USER", "somebody@example.com"),
        ("MODEL", "mcp-server-everything-2026-01-26"),
        ("TEMPERATURE_KEY", "-0.75"),
    ] {
        assert!(!is_secret(name, value), "{name}={value}");
    }
}

#[test]
fn every_header_is_a_secret_but_for_numbers_and_short_words() {
    for value in ["Bearer hunter2", "team-seven", "application/json"] {
        assert!(is_secret_header(value), "{value}");
    }
    for value in ["", "1", "true", " gzip "] {
        assert!(!is_secret_header(value), "{value}");
    }
}
