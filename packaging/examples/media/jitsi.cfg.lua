-- The part of Prosody's site for Jitsi Meet with Anteroom: see anteroom-jitsi(7). Replace SECRET by the
-- secret of the backend. Older releases need token_affiliation from jitsi-contrib/prosody-plugins.
VirtualHost "meet.example.org"
    authentication = "token"
    app_id = "anteroom"
    app_secret = "SECRET"
    allow_empty_token = false

Component "conference.meet.example.org" "muc"
    modules_enabled = { "token_verification", "token_affiliation" }
