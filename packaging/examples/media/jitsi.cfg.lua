-- The part of Prosody's site for Jitsi Meet behind Anteroom: see anteroom-jitsi(7). In place of SECRET
-- stands that of the backend. Older releases have token_affiliation from jitsi-contrib/prosody-plugins.
VirtualHost "meet.example.org"
    authentication = "token"
    app_id = "anteroom"
    app_secret = "SECRET"
    allow_empty_token = false

Component "conference.meet.example.org" "muc"
    modules_enabled = { "token_verification", "token_affiliation" }
