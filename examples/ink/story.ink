// What Jory Fenn offers depends on what he thinks of the party. The site says that; see play.js.
VAR score = 0
VAR label = "neutral"
VAR outcome = ""
VAR change = 0

Jory Fenn ties his boat to a post that is not there on any map. He is {label} towards you.
{ score > 0:
    "For you, the back way through the reeds. Bring your own oar."
- else:
    "The toll bridge is that way. Mind the toll."
}
* { score > 0 } [Take the back way]
    ~ outcome = "They crossed the Reedmaze in Jory Fenn's boat and paid him in smoked eel."
    ~ change = 3
    He sings all the way, badly.
* [Ask for nothing and mend his oarlock]
    ~ outcome = "They mended the oarlock of Jory Fenn's boat and asked for nothing."
    ~ change = 8
    He looks at the oarlock for a long time.
* [Threaten to tell the Guild]
    ~ outcome = "They threatened to tell the Guild where Jory Fenn ties his boat."
    ~ change = -10
    The grin goes out.
- -> END
